-- Keeps whether a platform made an address, which the activation of Edition 1 asks for. Stored addresses count as made by
-- the platform; a constant default rewrites no row.

ALTER TABLE "address" ADD COLUMN "by_platform" boolean DEFAULT true NOT NULL;