import type { Example } from './explorer.js';

/**
 * Examples that a new user can run at once in the explorer, on the demo's data. A test runs each of them. Those without
 * a task are the tabs at the start; the others are in the menu, by task. A text `@-90d` in the variables becomes the
 * time 90 days ago, and ids are to be replaced by those of an answer.
 */
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
  accounts(first: 10, filter: { type: [USER] }) {
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
  accounts(filter: { status: [DRAFT] }) {
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
  {
    task: 'Events',
    title: 'Follow events as they happen, also those of your users',
    query: `subscription FollowEvents($scope: AccountScope!) {
  events(scope: $scope) {
    number
    created
    type
    objectId
    account { nickname }
  }
}`,
    variables: { scope: 'DESCENDANTS' },
  },
  {
    task: 'Money',
    title: 'Which money is not reconciled, and what could it pay?',
    query: `query FindUnreconciledMoney {
  deposits(filter: { status: [COMPLETED] }, first: 20) {
    nodes {
      id created pendingRest currency
      fromAccount { nickname owner { id nickname } }
      toAccount { id nickname }
    }
  }
  receivables(filter: { status: [OPEN] }, first: 20) {
    nodes { id amountReconcilable currency account { id } invoice { referenceNumber dueDate } }
  }
}`,
  },
  {
    task: 'Money',
    title: 'Count a deposit towards a receivable: the example before has both ids; act as their user',
    query: `mutation ReconcileMoney($input: ReconcileDepositInput!) {
  reconcileDeposit(input: $input) {
    deposit { id status pendingRest receivables { id status amountLocked } }
  }
}`,
    variables: { input: { id: 'deposit_…', receivables: [{ id: 'receivable_…', amount: '10.00' }] } },
  },
  {
    task: 'Money',
    title: 'A chart of a quarter: money in by week, with that of the users',
    query: `query ChartAQuarter($from: DateTime!, $to: DateTime!) {
  viewer {
    account {
      depositChart(from: $from, to: $to, interval: WEEK, scope: DESCENDANTS, timeZone: "Asia/Kolkata") {
        asOf
        currencies {
          currency
          total { amount }
          steps { start count total { amount } }
        }
      }
    }
  }
}`,
    variables: { from: '@-90d', to: '@1d' },
  },
  {
    task: 'Money',
    title: 'Why is a balance what it is? Its compartments, and the transactions that made them',
    query: `query ExplainABalance {
  accounts(filter: { type: [USER], status: [ACTIVATED] }, first: 3) {
    nodes {
      nickname
      balance {
        available { amount currency }
        pending { amount currency }
        processing { amount currency }
      }
      payoutBlocks { currency reasonCode }
      balanceTransactions(first: 5) {
        nodes { created category amount currency balanceAfter payment { type status deposit { id } payout { id } } }
      }
    }
  }
}`,
  },
  {
    task: 'Edition 1: bank transfers',
    title: 'What came in by bank transfer, and which invoices did it pay?',
    query: `query FollowBankTransfers {
  deposits(filter: { status: [COMPLETED] }, first: 5) {
    nodes {
      amount currency method fromAccount { nickname }
      allocations(first: 3) {
        nodes { amount status receivable { invoice { referenceNumber } } payout { id status } }
      }
    }
  }
}`,
  },
  {
    task: 'Edition 2: checkouts',
    title: 'Which checkouts wait for a payment?',
    query: `query OpenCheckouts {
  checkouts(filter: { status: [INITIALIZED] }, first: 10) {
    nodes { id amount currency expiresAt url fromAccount { nickname } }
  }
}`,
  },
  {
    task: 'Edition 2: checkouts',
    title: 'Pay a checkout in test mode; take its id from the query before',
    query: `mutation PayACheckout($input: PayTestCheckoutInput!) {
  payTestCheckout(input: $input) {
    checkout { id status deposit { id amount currency status } }
  }
}`,
    variables: { input: { id: 'checkout_…', paymentMethod: 'UPI' } },
  },
];
