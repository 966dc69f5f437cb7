-- Drops the functions that only gateways of releases before 0.3.0 call, and those that older releases and development
-- versions left behind. A gateway of 0.1 or 0.2 cannot serve this database: version.json says so, and a rolling upgrade
-- from them goes through 0.3.0. Their databases are migrated all the same.

drop function if exists answer(text, boolean, jsonb, jsonb);--> statement-breakpoint
drop function if exists answer_inquiry(text, boolean, jsonb, jsonb);--> statement-breakpoint
drop function if exists answer_of_deposit(jsonb);--> statement-breakpoint
drop function if exists claim_deliveries(text, boolean, text, int, int);--> statement-breakpoint
drop function if exists claim_inquiries(text, boolean, jsonb, jsonb);--> statement-breakpoint
drop function if exists complete_deposits(text, boolean, deposit[]);--> statement-breakpoint
drop function if exists create_deposits(text, boolean, int, jsonb[], jsonb[]);--> statement-breakpoint
drop function if exists create_file(text, boolean, jsonb, jsonb);--> statement-breakpoint
drop function if exists create_first_deposits(text, boolean, int, jsonb);--> statement-breakpoint
drop function if exists declared_parts(text);--> statement-breakpoint
drop function if exists delete_jobs(text, boolean, text[]);--> statement-breakpoint
drop function if exists deposit_args();--> statement-breakpoint
drop function if exists emit_events_at(text, boolean, jsonb[], text, text, jsonb[], bigint);--> statement-breakpoint
drop function if exists end_of_key(text, boolean, text, bigint);--> statement-breakpoint
drop function if exists enqueue_for_each(text, boolean, text, text[], bigint, bigint);--> statement-breakpoint
drop function if exists envelope_args();--> statement-breakpoint
drop function if exists envelope_of_write(jsonb);--> statement-breakpoint
drop function if exists forget_answers(text, boolean, bigint);--> statement-breakpoint
drop function if exists forget_old_answers(text, boolean, bigint, int);--> statement-breakpoint
drop function if exists forget_old_deliveries(text, boolean, int);--> statement-breakpoint
drop function if exists forget_old_events(text, boolean, bigint, int);--> statement-breakpoint
drop function if exists forget_old_requests(text, boolean, bigint, int);--> statement-breakpoint
drop function if exists hasten_deliveries(text, boolean, text, int);--> statement-breakpoint
drop function if exists index_new_objects(text, boolean, text, jsonb[]);--> statement-breakpoint
drop function if exists insert_account(text, boolean, text, text, jsonb);--> statement-breakpoint
drop function if exists insert_address(text, boolean, jsonb, account, jsonb);--> statement-breakpoint
drop function if exists insert_address(text, boolean, jsonb, account, text, text, text, text, jsonb, jsonb, jsonb, jsonb, jsonb, boolean, jsonb);--> statement-breakpoint
drop function if exists insert_api_key(text, boolean, jsonb, text, jsonb);--> statement-breakpoint
drop function if exists insert_api_key(text, boolean, jsonb, text, text, bigint, text, text, text);--> statement-breakpoint
drop function if exists insert_api_key_at(text, boolean, jsonb, text, text, bigint, text, text, text, bigint);--> statement-breakpoint
drop function if exists insert_transaction(text, boolean, jsonb, checkout, jsonb);--> statement-breakpoint
drop function if exists keep_export(text, boolean, text, int, int);--> statement-breakpoint
drop function if exists keep_import(text, boolean, text, int, int);--> statement-breakpoint
drop function if exists lock_balances_of_writes(text, boolean, jsonb);--> statement-breakpoint
drop function if exists lock_free_deposits(text, boolean, text[]);--> statement-breakpoint
drop function if exists lock_payer(text, boolean, text, int);--> statement-breakpoint
drop function if exists merge_hash(jsonb, jsonb);--> statement-breakpoint
drop function if exists misfit_of(text, text);--> statement-breakpoint
drop function if exists pass_on(text, boolean, jsonb, text, text);--> statement-breakpoint
drop function if exists post_credits(text, boolean, text, text[], text[], jsonb[]);--> statement-breakpoint
drop function if exists posting_text(text, boolean, text);--> statement-breakpoint
drop function if exists process_deposits(text, boolean, text[]);--> statement-breakpoint
drop function if exists rate_of(text, boolean, text, text);--> statement-breakpoint
drop function if exists run_deposit_jobs(text, boolean, job[], int, timestamptz);--> statement-breakpoint
drop function if exists run_deposit_jobs_together(text, boolean, job[]);--> statement-breakpoint
drop function if exists set_deposits_status(text, boolean, text[], text, text[], bigint);--> statement-breakpoint
drop function if exists set_payments_status(text, boolean, text[], text, bigint);--> statement-breakpoint
drop function if exists store_idempotent_responses(text, boolean, jsonb[], jsonb[]);--> statement-breakpoint
drop function if exists stored_reference(text, boolean, text, text);--> statement-breakpoint
drop function if exists survey_node(text, text);--> statement-breakpoint
drop function if exists take_back(text, boolean, jsonb, deposit, bigint, text, text, text, text);--> statement-breakpoint
drop function if exists take_on_deposits(text, boolean, text[]);--> statement-breakpoint
drop function if exists tell(text, boolean, jsonb, text, text, jsonb);--> statement-breakpoint
drop function if exists tell_at(text, boolean, jsonb, text, text, jsonb, bigint);--> statement-breakpoint
drop function if exists tell_of_root(text, boolean, jsonb, text, text, jsonb);--> statement-breakpoint
drop function if exists write_deposits(text, boolean, int, jsonb);
