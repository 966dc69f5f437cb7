import { minifyIntrospection, outputIntrospectionFile } from '@gql.tada/internal';
import { buildSchema, introspectionFromSchema } from 'graphql';

/** The types of a schema as text, from which gql.tada infers the types of each query. */
export function typesText(schema) {
  const introspection = introspectionFromSchema(buildSchema(schema));
  const text = outputIntrospectionFile(minifyIntrospection(introspection), {
    fileType: '.d.ts',
    shouldPreprocess: true,
  });
  // The end of the text would make the schema that of every query; there are several.
  return text.split("import * as gqlTada from 'gql.tada';")[0];
}
