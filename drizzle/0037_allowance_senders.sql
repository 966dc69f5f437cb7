-- Keeps who has spent an allowance, for the part that is kept for the others, and when keys were rotated without points.

ALTER TABLE "allowance" ADD COLUMN "spent" jsonb;--> statement-breakpoint
ALTER TABLE "allowance" ADD COLUMN "rotations" bigint[];