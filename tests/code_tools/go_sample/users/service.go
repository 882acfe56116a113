package users

import (
	"context"
	"fmt"
	"strings"

	"example.com/shop/storage"
)

// UserService has the rules about users.
type UserService struct {
	repository UserRepository
	log        *storage.Log
}

// CreateUser adds a user, if the address is free.
func (s *UserService) CreateUser(ctx context.Context, email string) (*User, error) {
	email = strings.ToLower(strings.TrimSpace(email))
	if !isEmail(email) {
		return nil, fmt.Errorf("not an address: %q", email)
	}
	user := &User{Email: email}
	if err := s.repository.Create(ctx, user); err != nil {
		return nil, fmt.Errorf("create user: %w", err)
	}
	s.note(user)
	storage.Flush()
	return user, nil
}

func (s *UserService) note(user *User) {
	s.log.Write(user.Email)
}

func isEmail(text string) bool {
	return strings.Contains(text, "@")
}
