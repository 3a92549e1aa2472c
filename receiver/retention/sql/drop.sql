DROP TABLE IF EXISTS hookonce.day_partition
