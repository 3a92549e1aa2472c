SELECT version FROM hookonce.schema_version
