"""This file puts its folder on the path, for what several rooms of the workbench share."""
