-- Gives persons that were created with null as their identification the stored form of none, an object without
-- members: responses with such a person failed.
UPDATE "person" SET "identification" = '{}' WHERE jsonb_typeof("identification") = 'null';
