"""What a function returns, in the forms that models and hosts take."""
