-- Countries are stored in capitals, since clients compare them as text.

-- Countries that were sent in small letters.
update "account" set "business_details" = jsonb_set("business_details", '{physicalAddress,country}', to_jsonb(upper("business_details" #>> '{physicalAddress,country}'))) where "business_details" #>> '{physicalAddress,country}' <> upper("business_details" #>> '{physicalAddress,country}');--> statement-breakpoint
update "address" set "billing_details" = jsonb_set("billing_details", '{country}', to_jsonb(upper("billing_details" ->> 'country'))) where "billing_details" ->> 'country' <> upper("billing_details" ->> 'country');
