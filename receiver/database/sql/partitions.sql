SELECT hookonce.ensure_partitions($1)
