-- take_allowance has one more argument, with a default: the gateways of 0.3.0 call it as before. No row is rewritten.

drop function if exists take_allowance(text, boolean, bigint, bigint, bigint, bigint, bigint);
