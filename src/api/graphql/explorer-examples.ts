import type { Example } from './explorer.js';

/** Examples that a new user can run at once in the explorer, on the demo's data. A test runs each of them. */
export const examples: Example[] = [
  {
    title: 'Who am I, and what is on my list?',
    query: `query Overview {
  viewer {
    edition
    mode
    permission
    account { id type status businessDetails { legalName } }
  }
  accounts(first: 5) {
    nodes { id type status nickname created }
    pageInfo { hasNextPage endCursor }
    totalCount
  }
}`,
  },
  {
    title: 'A graph: users, their partners, addresses and settings, in one request',
    query: `query Graph {
  accounts(first: 10, type: [USER]) {
    nodes {
      nickname
      status
      address
      setting { payouts { enabled reasonCodeNotEnabled } }
      partners(first: 3) { nodes { nickname status } }
      addresses(first: 3) {
        nodes { category currency status bankAccount { bankName last4 } }
      }
    }
  }
}`,
  },
  {
    title: 'What is still missing before a draft can be activated?',
    query: `query Requirements {
  accounts(status: [DRAFT]) {
    nodes {
      nickname
      requirements { fieldName message alternatives }
    }
  }
}`,
  },
  {
    title: 'Create a partner; run it twice and see the nickname refused',
    query: `mutation CreatePartner($input: CreateAccountInput!) {
  createAccount(input: $input) {
    account { id status nickname metadata }
  }
}`,
    variables: {
      input: {
        type: 'PARTNER',
        nickname: 'Explorer Imports',
        businessDetails: {
          legalName: 'Explorer Imports LLC',
          email: 'ap@explorer.example',
          type: 'COMPANY',
          physicalAddress: { country: 'US', postalCode: '94105' },
        },
        metadata: { source: 'explorer' },
      },
    },
  },
];
