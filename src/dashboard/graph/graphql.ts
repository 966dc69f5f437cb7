import { initGraphQLTada } from 'gql.tada';
import type { introspection } from './schema-types';

/** Reads a GraphQL document; the types of its variables and of its answer come from the schema. */
export const graphql = initGraphQLTada<{
  introspection: introspection;
  disableMasking: true;
  scalars: {
    Amount: string;
    CountryCode: string;
    Currency: string;
    DateTime: string;
    EmailAddress: string;
    IP: string;
    JSONObject: Record<string, unknown>;
    LocalDate: string;
    Metadata: Record<string, string>;
    URL: string;
  };
}>();

export type { ResultOf } from 'gql.tada';
