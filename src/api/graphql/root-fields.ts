import {
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
} from 'graphql';

/** A requested operation and its schema. */
export interface GraphOperation {
  schema: GraphQLSchema;
  document: DocumentNode;
  operationName: string | null | undefined;
}

/** The operation of a document with a name, or its first one. */
export function operationOf(
  document: DocumentNode,
  operationName: string | null | undefined,
): OperationDefinitionNode | undefined {
  const operations = document.definitions.filter(
    (d): d is OperationDefinitionNode => d.kind === Kind.OPERATION_DEFINITION,
  );
  return operationName ? operations.find((d) => d.name?.value === operationName) : operations[0];
}

/** The root fields that an operation selects, directly or through fragments. */
export function rootFieldNodes(document: DocumentNode, operationName: string | null | undefined): FieldNode[] {
  const visited = new Set<string>();
  const collect = (selections: readonly SelectionNode[]): FieldNode[] =>
    selections.flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [selection];
      if (selection.kind === Kind.INLINE_FRAGMENT) return collect(selection.selectionSet.selections);
      const name = selection.name.value;
      if (visited.has(name)) return [];
      visited.add(name);
      const fragment = document.definitions.find((d) => d.kind === Kind.FRAGMENT_DEFINITION && d.name.value === name);
      return fragment?.kind === Kind.FRAGMENT_DEFINITION ? collect(fragment.selectionSet.selections) : [];
    });
  return collect(operationOf(document, operationName)?.selectionSet.selections ?? []);
}

/**
 * How metrics and traces name an operation: by its root field, or as `several`. The document has been validated, so
 * there are only as many names as root fields.
 */
export function operationLabel(document: DocumentNode, operationName: string | null | undefined): string {
  const names = new Set(rootFieldNodes(document, operationName).map(({ name }) => name.value));
  const [first = 'none'] = names;
  return names.size > 1 ? 'several' : first;
}
