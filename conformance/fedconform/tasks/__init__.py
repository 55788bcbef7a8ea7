"""The problems: their losses as functions of w, the task of an adapter, the settings."""
