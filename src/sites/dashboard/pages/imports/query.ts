import { graphql, type ResultOf } from '../../graph/graphql';
import { NameFragment } from '../../session';

/** How far an import is. */
const ProgressFragment = graphql(`
  fragment Progress on Import { id created kind dryRun status rows rowsDone rowsFailed rowsSeenBefore error }
`);

export type Progress = ResultOf<typeof ProgressFragment>;

export const CreateMutation = graphql(`
  mutation CreateImport($input: CreateImportInput!) {
    createImport(input: $input) { import { id } }
  }
`);

export const ImportQuery = graphql(
  `
    query Import($id: ID!) {
      import(id: $id) { ...Progress }
    }
  `,
  [ProgressFragment],
);

/** What became of the rows of an import, in the order of the file. */
export const ResultsQuery = graphql(
  `
    query ImportResults($id: ID!, $after: ID, $status: [ImportRowStatus!]) {
      import(id: $id) {
        id
        results(first: 25, after: $after, orderBy: CREATED_ASC, filter: { status: $status }) {
          nodes {
            id row status objectId
            problems { code column message }
            object {
              id
              ... on Account { ...Name }
              ... on Receivable { currency invoice { referenceNumber amount dueDate } }
            }
          }
          pageInfo { hasNextPage endCursor }
        }
      }
    }
  `,
  [NameFragment],
);

export const ImportsQuery = graphql(
  `
    query Imports($accountId: ID) {
      imports(first: 25, filter: { accountId: $accountId }) {
        nodes { ...Progress }
      }
    }
  `,
  [ProgressFragment],
);
