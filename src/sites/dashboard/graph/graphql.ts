import { initGraphQLTada } from 'gql.tada';
import type { introspection } from './schema-types';

/** The types of the scalars in answers and variables. */
export type Scalars = {
  Amount: string;
  CountryCode: string;
  Currency: string;
  DateTime: string;
  EmailAddress: string;
  IP: string;
  JSONObject: Record<string, unknown>;
  LocalDate: string;
  Metadata: Record<string, string>;
  SafeInt: number;
  URL: string;
};

/** Reads a GraphQL document; the types of its variables and of its answer come from the schema. */
export const graphql = initGraphQLTada<{ introspection: introspection; disableMasking: true; scalars: Scalars }>();

export type { ResultOf, VariablesOf } from 'gql.tada';
