-- Gives the indexes of the filters of a parent's or an account's list shorter keys: a hash of the parent and the value.
-- Each new index makes writes to its table wait while it is built, seconds per million rows; reads go on, and requests
-- that write are refused after two seconds. Where that is not acceptable, build the indexes beforehand by the same
-- statements with CONCURRENTLY, one after the other: an index that exists is not built again.

CREATE INDEX IF NOT EXISTS "account_setting_context_by_connected_user" ON "account_setting" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "address_connected_user"::text), 0),"created","id") WHERE ("account_setting"."context_id" || ' ' || "account_setting"."address_connected_user"::text) is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_setting_context_by_connected_user_partner" ON "account_setting" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "address_connected_user_partner"::text), 0),"created","id") WHERE ("account_setting"."context_id" || ' ' || "account_setting"."address_connected_user_partner"::text) is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_setting_context_by_partner" ON "account_setting" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "address_partner"::text), 0),"created","id") WHERE ("account_setting"."context_id" || ' ' || "account_setting"."address_partner"::text) is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_setting_context_by_platform" ON "account_setting" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "address_platform"::text), 0),"created","id") WHERE ("account_setting"."context_id" || ' ' || "account_setting"."address_platform"::text) is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_setting_context_by_user" ON "account_setting" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "address_user"::text), 0),"created","id") WHERE ("account_setting"."context_id" || ' ' || "account_setting"."address_user"::text) is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_setting_context_by_payouts_enabled" ON "account_setting" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "payouts_enabled"::text), 0),"created","id") WHERE ("account_setting"."context_id" || ' ' || "account_setting"."payouts_enabled"::text) is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_setting_context_by_payouts_reason" ON "account_setting" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "payouts_reason"), 0),"created","id") WHERE ("account_setting"."context_id" || ' ' || "account_setting"."payouts_reason") is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_setting_context_by_of_connected_user" ON "account_setting" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "of_connected_user"::text), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_context_by_address" ON "account" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "address"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_context_by_status" ON "account" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "status"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_context_by_type" ON "account" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "type"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_context_by_capability" ON "account" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "capability_status"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "account_owner_by_type" ON "account" USING btree ("tenant_id","livemode",hashtextextended(("owner_id" || ' ' || "type"), 0),"created","id") WHERE ("account"."owner_id" || ' ' || "account"."type") is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "address_context_by_category" ON "address" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "category"), 0),"created","id") WHERE "address"."context_id" <> "address"."linked_id";--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "address_context_by_currency" ON "address" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "currency"), 0),"created","id") WHERE "address"."context_id" <> "address"."linked_id";--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "address_context_by_reusable" ON "address" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "is_reusable"::text), 0),"created","id") WHERE "address"."context_id" <> "address"."linked_id";--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "address_context_by_status" ON "address" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "status"), 0),"created","id") WHERE "address"."context_id" <> "address"."linked_id";--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "address_context_by_type" ON "address" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "type"), 0),"created","id") WHERE "address"."context_id" <> "address"."linked_id";--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "address_context_by_wallet" ON "address" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "wallet_provider"), 0),"created","id") WHERE ("address"."context_id" <> "address"."linked_id" and ("address"."context_id" || ' ' || "address"."wallet_provider") is not null);--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "address_context_by_vpa_onetime" ON "address" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "vpa_upi_onetime"), 0),"created","id") WHERE ("address"."context_id" <> "address"."linked_id" and ("address"."context_id" || ' ' || "address"."vpa_upi_onetime") is not null);--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "address_context_by_vpa_recurring" ON "address" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "vpa_upi_recurring"), 0),"created","id") WHERE ("address"."context_id" <> "address"."linked_id" and ("address"."context_id" || ' ' || "address"."vpa_upi_recurring") is not null);--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "address_linked_by_category" ON "address" USING btree ("tenant_id","livemode",hashtextextended(("linked_id" || ' ' || "category"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "address_linked_by_currency" ON "address" USING btree ("tenant_id","livemode",hashtextextended(("linked_id" || ' ' || "currency"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "address_linked_by_reusable" ON "address" USING btree ("tenant_id","livemode",hashtextextended(("linked_id" || ' ' || "is_reusable"::text), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "address_linked_by_status" ON "address" USING btree ("tenant_id","livemode",hashtextextended(("linked_id" || ' ' || "status"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "address_linked_by_type" ON "address" USING btree ("tenant_id","livemode",hashtextextended(("linked_id" || ' ' || "type"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "address_linked_by_wallet" ON "address" USING btree ("tenant_id","livemode",hashtextextended(("linked_id" || ' ' || "wallet_provider"), 0),"created","id") WHERE ("address"."linked_id" || ' ' || "address"."wallet_provider") is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "address_linked_by_vpa_onetime" ON "address" USING btree ("tenant_id","livemode",hashtextextended(("linked_id" || ' ' || "vpa_upi_onetime"), 0),"created","id") WHERE ("address"."linked_id" || ' ' || "address"."vpa_upi_onetime") is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "address_linked_by_vpa_recurring" ON "address" USING btree ("tenant_id","livemode",hashtextextended(("linked_id" || ' ' || "vpa_upi_recurring"), 0),"created","id") WHERE ("address"."linked_id" || ' ' || "address"."vpa_upi_recurring") is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "deposit_context_by_status" ON "deposit" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "status"), 0),"created","id") WHERE "deposit"."context_id" <> "deposit"."to_account_id";--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "deposit_context_by_method" ON "deposit" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "payment_method"), 0),"created","id") WHERE "deposit"."context_id" <> "deposit"."to_account_id";--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "deposit_context_by_currency" ON "deposit" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "currency"), 0),"created","id") WHERE "deposit"."context_id" <> "deposit"."to_account_id";--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "deposit_to_by_status" ON "deposit" USING btree ("tenant_id","livemode",hashtextextended(("to_account_id" || ' ' || "status"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "deposit_to_by_method" ON "deposit" USING btree ("tenant_id","livemode",hashtextextended(("to_account_id" || ' ' || "payment_method"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "deposit_to_by_currency" ON "deposit" USING btree ("tenant_id","livemode",hashtextextended(("to_account_id" || ' ' || "currency"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "deposit_from_by_status" ON "deposit" USING btree ("tenant_id","livemode",hashtextextended(("from_account_id" || ' ' || "status"), 0),"created","id") WHERE ("deposit"."from_account_id" || ' ' || "deposit"."status") is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "deposit_from_by_method" ON "deposit" USING btree ("tenant_id","livemode",hashtextextended(("from_account_id" || ' ' || "payment_method"), 0),"created","id") WHERE ("deposit"."from_account_id" || ' ' || "deposit"."payment_method") is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "deposit_from_by_currency" ON "deposit" USING btree ("tenant_id","livemode",hashtextextended(("from_account_id" || ' ' || "currency"), 0),"created","id") WHERE ("deposit"."from_account_id" || ' ' || "deposit"."currency") is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "event_context_by_type" ON "event" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "type"), 0),"number") WHERE number is not null;--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "file_context_by_purpose" ON "file" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "purpose"), 0),"created","id") WHERE "file"."context_id" <> "file"."account_id";--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "file_account_by_purpose" ON "file" USING btree ("tenant_id","livemode",hashtextextended(("account_id" || ' ' || "purpose"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "entry_account_by_category" ON "entry" USING btree ("tenant_id","livemode",hashtextextended(("account_id" || ' ' || "category"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "entry_account_by_currency" ON "entry" USING btree ("tenant_id","livemode",hashtextextended(("account_id" || ' ' || "currency"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "payment_context_by_status" ON "payment" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "status"), 0),"created","id") WHERE "payment"."context_id" <> "payment"."account_id";--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "payment_context_by_type" ON "payment" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "type"), 0),"created","id") WHERE "payment"."context_id" <> "payment"."account_id";--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "payment_account_by_status" ON "payment" USING btree ("tenant_id","livemode",hashtextextended(("account_id" || ' ' || "status"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "payment_account_by_type" ON "payment" USING btree ("tenant_id","livemode",hashtextextended(("account_id" || ' ' || "type"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "payout_context_by_status" ON "payout" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "status"), 0),"created","id") WHERE "payout"."context_id" <> "payout"."account_id";--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "payout_account_by_status" ON "payout" USING btree ("tenant_id","livemode",hashtextextended(("account_id" || ' ' || "status"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "payout_address_by_status" ON "payout" USING btree ("tenant_id","livemode",hashtextextended(("address_id" || ' ' || "status"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "receivable_context_by_status" ON "receivable" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "status"), 0),"created","id") WHERE "receivable"."context_id" <> "receivable"."account_id";--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "receivable_context_by_currency" ON "receivable" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "currency"), 0),"created","id") WHERE "receivable"."context_id" <> "receivable"."account_id";--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "receivable_context_by_type" ON "receivable" USING btree ("tenant_id","livemode",hashtextextended(("context_id" || ' ' || "transaction_type"), 0),"created","id") WHERE "receivable"."context_id" <> "receivable"."account_id";--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "receivable_account_by_status" ON "receivable" USING btree ("tenant_id","livemode",hashtextextended(("account_id" || ' ' || "status"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "receivable_account_by_currency" ON "receivable" USING btree ("tenant_id","livemode",hashtextextended(("account_id" || ' ' || "currency"), 0),"created","id");--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "receivable_account_by_type" ON "receivable" USING btree ("tenant_id","livemode",hashtextextended(("account_id" || ' ' || "transaction_type"), 0),"created","id");--> statement-breakpoint
-- The statements below wait for all readers of these tables, and block new readers until the commit. So they come
-- last, and fail after waiting for 3 s.
SET LOCAL lock_timeout = '3s';--> statement-breakpoint
DROP INDEX "account_setting_context_connected_user";--> statement-breakpoint
DROP INDEX "account_setting_context_connected_user_partner";--> statement-breakpoint
DROP INDEX "account_setting_context_partner";--> statement-breakpoint
DROP INDEX "account_setting_context_platform";--> statement-breakpoint
DROP INDEX "account_setting_context_user";--> statement-breakpoint
DROP INDEX "account_setting_context_payouts_enabled";--> statement-breakpoint
DROP INDEX "account_setting_context_payouts_reason";--> statement-breakpoint
DROP INDEX "account_setting_context_of_connected_user";--> statement-breakpoint
DROP INDEX "account_context_address";--> statement-breakpoint
DROP INDEX "account_context_status";--> statement-breakpoint
DROP INDEX "account_context_type";--> statement-breakpoint
DROP INDEX "account_context_capability";--> statement-breakpoint
DROP INDEX "account_owner_type";--> statement-breakpoint
DROP INDEX "address_context_category";--> statement-breakpoint
DROP INDEX "address_context_currency";--> statement-breakpoint
DROP INDEX "address_context_reusable";--> statement-breakpoint
DROP INDEX "address_context_status";--> statement-breakpoint
DROP INDEX "address_context_type";--> statement-breakpoint
DROP INDEX "address_context_wallet";--> statement-breakpoint
DROP INDEX "address_context_vpa_onetime";--> statement-breakpoint
DROP INDEX "address_context_vpa_recurring";--> statement-breakpoint
DROP INDEX "address_linked_category";--> statement-breakpoint
DROP INDEX "address_linked_currency";--> statement-breakpoint
DROP INDEX "address_linked_reusable";--> statement-breakpoint
DROP INDEX "address_linked_status";--> statement-breakpoint
DROP INDEX "address_linked_type";--> statement-breakpoint
DROP INDEX "address_linked_wallet";--> statement-breakpoint
DROP INDEX "address_linked_vpa_onetime";--> statement-breakpoint
DROP INDEX "address_linked_vpa_recurring";--> statement-breakpoint
DROP INDEX "deposit_context_status";--> statement-breakpoint
DROP INDEX "deposit_context_method";--> statement-breakpoint
DROP INDEX "deposit_context_currency";--> statement-breakpoint
DROP INDEX "deposit_to_status";--> statement-breakpoint
DROP INDEX "deposit_to_method";--> statement-breakpoint
DROP INDEX "deposit_to_currency";--> statement-breakpoint
DROP INDEX "deposit_from_status";--> statement-breakpoint
DROP INDEX "deposit_from_method";--> statement-breakpoint
DROP INDEX "deposit_from_currency";--> statement-breakpoint
DROP INDEX "event_context_type";--> statement-breakpoint
DROP INDEX "file_context_purpose";--> statement-breakpoint
DROP INDEX "file_account_purpose";--> statement-breakpoint
DROP INDEX "entry_account_category";--> statement-breakpoint
DROP INDEX "entry_account_currency";--> statement-breakpoint
DROP INDEX "payment_context_status";--> statement-breakpoint
DROP INDEX "payment_context_type";--> statement-breakpoint
DROP INDEX "payment_account_status";--> statement-breakpoint
DROP INDEX "payment_account_type";--> statement-breakpoint
DROP INDEX "payout_context_status";--> statement-breakpoint
DROP INDEX "payout_account_status";--> statement-breakpoint
DROP INDEX "payout_address_status";--> statement-breakpoint
DROP INDEX "receivable_context_status";--> statement-breakpoint
DROP INDEX "receivable_context_currency";--> statement-breakpoint
DROP INDEX "receivable_context_type";--> statement-breakpoint
DROP INDEX "receivable_account_status";--> statement-breakpoint
DROP INDEX "receivable_account_currency";--> statement-breakpoint
DROP INDEX "receivable_account_type";
