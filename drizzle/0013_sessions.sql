-- Sessions: the short-lived tokens that API keys make for browsers. Nothing that exists is changed.

CREATE TABLE "session" (
	"tenant_id" text NOT NULL,
	"livemode" boolean NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"account_id" text NOT NULL,
	"api_key_id" text NOT NULL,
	"role" text NOT NULL,
	"allowed_origins" text[] NOT NULL,
	"digest" text NOT NULL,
	"expires_at" bigint NOT NULL,
	"revoked_at" bigint,
	"context_id" text NOT NULL,
	"on_root_list" boolean NOT NULL,
	CONSTRAINT "session_pkey" PRIMARY KEY("tenant_id","livemode","id"),
	CONSTRAINT "session_digest" UNIQUE("tenant_id","livemode","digest"),
	CONSTRAINT "session_role" CHECK ("session"."role" in ('read', 'operate'))
);
--> statement-breakpoint
ALTER TABLE "session" ADD CONSTRAINT "session_account" FOREIGN KEY ("tenant_id","livemode","account_id") REFERENCES "public"."account"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "session" ADD CONSTRAINT "session_api_key" FOREIGN KEY ("tenant_id","livemode","api_key_id") REFERENCES "public"."api_key"("tenant_id","livemode","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "session_in_context" ON "session" USING btree ("tenant_id","livemode","context_id","created","id") WHERE "session"."context_id" <> "session"."account_id";--> statement-breakpoint
CREATE INDEX "session_root" ON "session" USING btree ("tenant_id","livemode","on_root_list","created","id");--> statement-breakpoint
CREATE INDEX "session_of_account" ON "session" USING btree ("tenant_id","livemode","account_id","created","id");--> statement-breakpoint
CREATE INDEX "session_age" ON "session" USING btree ("tenant_id","livemode","created","id");--> statement-breakpoint
-- Written by hand: the new table is distributed like the others.
SELECT tg_distribute('session');
