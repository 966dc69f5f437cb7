import { initGraphQLTada } from 'gql.tada';
import type { Scalars } from '../graph/graphql';
import type { introspection } from './schema-types';

/** Reads a document of the operator's graph; its types come from that schema. */
export const graphql = initGraphQLTada<{ introspection: introspection; disableMasking: true; scalars: Scalars }>();
