-- Webhook endpoints can have a GraphQL query, whose result is the body of their deliveries.

ALTER TABLE "webhook_endpoint" ADD COLUMN "query" text;--> statement-breakpoint

ALTER TABLE "webhook_endpoint" ADD COLUMN "query_cost" integer;
