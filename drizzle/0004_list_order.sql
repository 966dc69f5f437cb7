-- Lists in the order of their indexes: the checkouts of a receivable are in the order of checkouts, so the index of their links ends in the checkout, not in the link.

DROP INDEX "checkout_of_receivable";--> statement-breakpoint
CREATE INDEX "checkout_of_receivable" ON "checkout_receivable" USING btree ("tenant_id","livemode","receivable_id","created","checkout_id");