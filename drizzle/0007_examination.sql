-- What an examination found: a key names the pepper that it is hashed under, so that peppers can be changed.

ALTER TABLE "api_key" ADD COLUMN "pepper_id" text;