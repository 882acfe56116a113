// Package users keeps the people who may sign in.
package users

import (
	"context"
	"errors"
	"time"
)

// MaxRetries is how often a query is tried again.
const MaxRetries = 3

const (
	// DefaultTimeout limits a query.
	DefaultTimeout = 5 * time.Second
	idLength       = 16
)

// ErrNotFound is returned if there is no such user.
var ErrNotFound = errors.New("user not found")

// ID names a user.
type ID string

// User is somebody who may sign in.
type User struct {
	ID        ID
	Email     string `json:"email"`
	CreatedAt time.Time
	*Profile
}

// Profile is what a user tells of themselves.
type Profile struct {
	Name string
}

// UserRepository keeps users.
type UserRepository interface {
	// GetByEmail finds a user by the address.
	GetByEmail(ctx context.Context, email string) (*User, error)
	Create(ctx context.Context, user *User) error
	Update(ctx context.Context, user *User) error
	Delete(ctx context.Context, id ID) error
}
