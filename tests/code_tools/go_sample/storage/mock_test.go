package storage

import "example.com/shop/users"

// MockUserRepository keeps users in memory.
type MockUserRepository struct {
	users map[string]*users.User
}

func (r *MockUserRepository) Create(user *users.User) error {
	r.users[user.Email] = user
	return nil
}
