import { graphql } from './graphql';

/** The money of an account by compartment and currency. */
export const BalanceFragment = graphql(`
  fragment Compartments on Balance {
    available { amount currency }
    pending { amount currency }
    processing { amount currency }
    payoutProcessing { amount currency }
  }
`);
