import { useEffect, useState } from 'react';
import { type Client, gql, type TypedDocumentNode, useClient } from 'urql';

/** A type as the schema describes it: a scalar, an enum with its values, another input, or one that has to be given. */
interface MemberType {
  kind: string;
  name: string | null;
  enumValues: { name: string }[] | null;
}

/** A member of an input, as the schema describes it. */
export interface InputMember {
  description: string | null;
  type: MemberType;
  /** Whether the schema demands a value. */
  required: boolean;
}

type Answer = {
  __type: {
    inputFields:
      | { name: string; description: string | null; type: MemberType & { ofType: MemberType | null } }[]
      | null;
  } | null;
};

// The queries of the pages have their types from the schema, but the schema does not describe itself. The gateway
// limits how deep introspection may go, so each type is a query of its own.
const InputTypeQuery: TypedDocumentNode<Answer, { name: string }> = gql`
  query InputType($name: String!) {
    __type(name: $name) {
      inputFields {
        name
        description
        type {
          kind
          name
          enumValues {
            name
          }
          ofType {
            kind
            name
            enumValues {
              name
            }
          }
        }
      }
    }
  }
`;

/** The members of an input and of the inputs within it, by their paths. */
async function membersOf(client: Client, name: string, path = ''): Promise<[string, InputMember][]> {
  const { data } = await client.query(InputTypeQuery, { name }, { requestPolicy: 'cache-first' }).toPromise();
  const fields = data?.__type?.inputFields ?? [];
  const found = fields.map(async ({ name: last, description, type: given }): Promise<[string, InputMember][]> => {
    const required = given.kind === 'NON_NULL';
    const type = (required && given.ofType) || given;
    const nested = type.kind === 'INPUT_OBJECT' && type.name;
    return nested
      ? membersOf(client, nested, `${path}${last}.`)
      : [[`${path}${last}`, { description, type, required }]];
  });
  return (await Promise.all(found)).flat();
}

/** The members of an input of the graph by their paths, such as `businessDetails.website`; undefined until known. */
export function useInputMembers(name: string): ReadonlyMap<string, InputMember> | undefined {
  const client = useClient();
  const [members, setMembers] = useState<ReadonlyMap<string, InputMember>>();
  useEffect(() => {
    let open = true;
    void membersOf(client, name).then((found) => open && setMembers(new Map(found)));
    return () => {
      open = false;
    };
  }, [client, name]);
  return members;
}
