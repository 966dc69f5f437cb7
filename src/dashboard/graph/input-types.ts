import { useEffect, useState } from 'react';
import { type Client, gql, type TypedDocumentNode, useClient } from 'urql';

/** A member of an input, as the schema describes it. */
export interface InputMember {
  name: string;
  description: string | null;
  /** A scalar, an enum with its values, or another input. */
  type: { kind: string; name: string | null; enumValues: { name: string }[] | null };
}

type Answer = { __type: { inputFields: InputMember[] | null } | null };

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
        }
      }
    }
  }
`;

/** The members of an input and of the inputs within it, by their paths. */
async function membersOf(client: Client, name: string, path = ''): Promise<[string, InputMember][]> {
  const { data } = await client.query(InputTypeQuery, { name }, { requestPolicy: 'cache-first' }).toPromise();
  const found = (data?.__type?.inputFields ?? []).map(async (member): Promise<[string, InputMember][]> => {
    const at = path + member.name;
    const { kind, name: type } = member.type;
    return kind === 'INPUT_OBJECT' && type ? membersOf(client, type, `${at}.`) : [[at, member]];
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
