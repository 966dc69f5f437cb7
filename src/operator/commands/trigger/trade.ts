import { type Answered, type KeyAccount, type TestGateway, TriggerError } from './gateway.js';

const waitMilliseconds = 20_000;
const day = 86_400;

/** How often a deposit is made again that the sandbox has moved before its test helper could. */
const attemptsMax = 5;

/** What the sandbox does by itself, too: the statuses of a deposit after it. */
const ownMoves: Record<string, string[]> = { process: ['processing', 'completed'], complete: ['completed'] };

/** A name that no other object has. */
export const newName = (): string => `trigger ${crypto.randomUUID()}`;

const place = { line1: '1 Wharf', city: 'Pune', state: 'MH', postal_code: '411001', country: 'IN' };

/** What trade needs in an edition, and what of it an edition does not have. */
export const trades = {
  1: { owners: 1, relationship: { owner: true }, upi: false, checkouts: false, currency: 'USD' },
  2: { owners: 2, relationship: { director: true }, upi: true, checkouts: true, currency: 'INR' },
} as const;

/** What the activation of a connected user requires of its business, by edition. */
const profile = {
  1: { legal_name: 'Trigger Trading', type: 'individual', physical_address: place },
  2: {
    ...{
      legal_name: 'Trigger Courses',
      dba: 'Trigger',
      email: 'ap@trigger.example',
      website: 'https://trigger.example',
    },
    ...{ date_of_incorporation: '2014-04-01', type: 'company', ids: { business: 'U52100' } },
    physical_address: { line1: '1 Road', city: 'Oslo', state: 'Oslo', postal_code: '0150', country: 'NO' },
    ...{ merchant_category_code: '5131', merchant_size: 'small' },
    ...{ product_category: 'goods', product_description: 'Courses.' },
  },
};

/** An account that trades in test mode: what recipes need to make its objects. */
export class Trader {
  constructor(
    readonly gateway: TestGateway,
    readonly id: string,
    readonly edition: 1 | 2,
    /** The gateway as the platform of a new connected user sees it. */
    private readonly platform?: TestGateway,
  ) {}
  #isReady = false;

  /** The trader of a key: its own account, or a new connected user of a platform, in draft. */
  static async of(gateway: TestGateway, { id, type, edition }: KeyAccount): Promise<Trader> {
    if (type === 'USER') return new Trader(gateway, id, edition);
    const user = await gateway.post('/accounts/connected', { nickname: newName(), business_details: profile[edition] });
    return new Trader(gateway.for(user.id), user.id, edition, gateway);
  }

  get currency(): string {
    return trades[this.edition].currency;
  }

  partner(): Promise<Answered> {
    return this.gateway.post('/accounts', {
      type: 'partner',
      nickname: newName(),
      business_details: {
        ...{ legal_name: 'Trigger Trading', email: 'ap@trigger.example', type: 'company' },
        physical_address: place,
      },
    });
  }

  /** A partner that the sandbox verifies. */
  async verifying(): Promise<string> {
    const { id } = await this.partner();
    await this.gateway.post(`/accounts/${id}/activate`);
    return id;
  }

  /** A partner that is activated, with the addresses that the sandbox's bank issues to it. */
  async activated(): Promise<string> {
    const id = await this.verifying();
    await this.#issued(id);
    return id;
  }

  /** An address to which a partner is paid, or from which it pays. */
  async receivingAddress(): Promise<string> {
    const id = await this.activated();
    const [address] = await this.gateway.list(`/addresses?linked_id=${id}&category=service_receive`);
    return address!.id;
  }

  /** An address to which the trader's money is paid out. */
  payoutAddress(): Promise<Answered> {
    return this.gateway.post('/addresses', {
      ...{ category: 'user_payout', type: 'bank_account', currency: 'INR' },
      ...{ linked_id: this.id, linked_object: 'account', name: 'Trigger Trading' },
      bank_account: { bank_name: 'Bank of the Coast', number: '004501551234', domestic_credit: 'BOTC0000451' },
      billing_details: place,
    });
  }

  person(): Promise<Answered> {
    return this.gateway.post('/persons', {
      ...{ account_id: this.id, full_name: 'Meera Rao' },
      relationship: trades[this.edition].relationship,
      identification: { tax_card_number: 'ABCPE1234F' },
    });
  }

  /** Activates a new connected user, which only then can receive money. */
  async #ready(): Promise<void> {
    if (!this.platform || this.#isReady) return;
    for (let persons = 0; persons < trades[this.edition].owners; persons++) await this.person();
    await this.payoutAddress();
    await this.platform.post(`/accounts/${this.id}/activate`);
    await this.#issued(this.id);
    this.#isReady = true;
  }

  #issued(id: string): Promise<Answered> {
    return until(
      () => this.gateway.get(`/accounts/${id}`),
      ({ status, address }) => status === 'activated' && address === 'activated',
      'the activation of an account',
    );
  }

  async deposit(): Promise<Answered> {
    await this.#ready();
    const second = trades[this.edition].upi && { to: { account_id: this.id }, payment_method: 'upi' };
    return this.gateway.post('/deposits', { amount: '100.00', currency: this.currency, ...second });
  }

  /** A new deposit after a test helper. */
  async moved(move: string, body: object = {}): Promise<Answered> {
    for (let attempts = 1; ; attempts++) {
      const { id } = await this.deposit();
      try {
        return await this.gateway.post(`/test_helpers/deposits/${id}/${move}`, body);
      } catch (refused) {
        // The sandbox moves a deposit by itself a second after it was made, which may be before this request.
        const now = await this.gateway.get(`/deposits/${id}`);
        if (ownMoves[move]?.includes(String(now.status))) return now;
        if (now.status === 'initialized' || attempts === attemptsMax) throw refused;
      }
    }
  }

  receivable(): Promise<Answered> {
    const { currency } = this;
    return this.gateway.post('/receivables', {
      currency,
      ...{ purpose_code: 'P0802', transaction_type: 'services' },
      invoice: {
        ...{ amount: '100.00', currency, creation_date: '2026-10-01', due_date: '2026-12-01' },
        reference_number: newName(),
      },
    });
  }

  /** A refund of a new deposit. */
  async refund(): Promise<Answered> {
    const { id } = await this.moved('complete');
    return this.gateway.post('/refunds', { deposit_id: id });
  }

  /** The dispute of a new deposit, after a call about it if there is one. */
  async dispute(path?: string, body?: object): Promise<Answered> {
    const { id: debit } = await this.gateway.post(
      `/test_helpers/deposits/${(await this.moved('complete')).id}/dispute`,
    );
    const disputes = await this.gateway.list<Answered>('/disputes?limit=10');
    const { id } = disputes.find((dispute) => dispute.debit_deposit_id === debit)!;
    return path === undefined ? { id } : this.gateway.post(path.replace(':id', id), body);
  }

  /** A deposit that counts towards a receivable, so that its money is available. */
  async reconciled(): Promise<Answered> {
    const { id } = await this.moved('complete');
    const receivable = await this.receivable();
    return this.gateway.post(`/deposits/${id}/reconcile`, { receivables: [{ id: receivable.id, amount: '100.00' }] });
  }

  /** A checkout that a new partner can pay. */
  async checkout(): Promise<Answered> {
    const { id } = await this.partner();
    const receivable = await this.receivable();
    return this.gateway.post('/checkouts', {
      ...{ amount: '100.00', currency: this.currency, from: { account_id: id } },
      ...{ payment_methods: ['upi', 'cards'], receivables: [{ id: receivable.id }] },
      redirect_url: 'https://shop.example/back',
    });
  }

  /** A new checkout after a test helper. */
  async afterHelper(helper: string): Promise<string> {
    const { id } = await this.checkout();
    await this.gateway.post(`/test_helpers/checkouts/${id}/${helper}`);
    return id;
  }

  /** A payout whose money is on its way. The test clock moves to the next day. */
  async payout(): Promise<string> {
    const before = new Set((await this.gateway.list('/payouts')).map(({ id }) => id));
    await this.payoutAddress();
    await this.reconciled();
    await this.nextDay();
    const payouts = await until(
      async () => (await this.gateway.list('/payouts?status=processing')).filter(({ id }) => !before.has(id)),
      ({ length }) => length > 0,
      'the payout',
    );
    return payouts[0]!.id;
  }

  /** Moves the test clock of the root account, after which everything that is due by then happens. */
  async nextDay(): Promise<void> {
    await this.gateway.post('/test_helpers/clock', { advance_seconds: day });
  }
}

/** Repeats a read until its answer is the wanted one. */
export async function until<T>(read: () => Promise<T>, wanted: (answer: T) => boolean, what: string): Promise<T> {
  const end = performance.now() + waitMilliseconds;
  for (;;) {
    const answer = await read();
    if (wanted(answer)) return answer;
    if (performance.now() > end)
      throw new TriggerError(`The gateway has waited ${waitMilliseconds / 1_000} s for ${what}. Does its worker run?`);
    await new Promise((resume) => setTimeout(resume, 200));
  }
}
