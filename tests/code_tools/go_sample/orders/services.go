package orders

import "errors"

// Product is for sale.
type Product struct{ Name string }

// Order is of a product.
type Order struct{ Product Product }

// ProductService has the rules about products.
type ProductService struct{}

// CreateProduct adds a product.
func (s *ProductService) CreateProduct(name string) (*Product, error) {
	if name == "" {
		return nil, errors.New("a product has a name")
	}
	return &Product{Name: name}, nil
}

// OrderService has the rules about orders.
type OrderService[T any] struct{ last T }

// CreateOrder adds an order.
func (s *OrderService[T]) CreateOrder(product *Product) *Order {
	return &Order{Product: *product}
}

// MaxRetries is how often an order is tried again.
const MaxRetries = 5
