import { Field, ObjectType } from 'type-graphql';

@ObjectType({
  simpleResolvers: true,
  description: 'A purpose code of inward remittances by the Reserve Bank of India (RBI).',
})
export class PurposeCode {
  @Field(() => String, { description: 'The code, such as `P0802`.' })
  code: string;
  @Field(() => String, { description: 'The meaning of the code, as the RBI words it.' })
  description: string;
}

/**
 * Purpose codes of inward remittances by the Reserve Bank of India, with their meanings.
 * Spec: Receivable, purpose_code. Silent: the list.
 */
export const purposeCodes: Record<string, string> = {
  P0101: 'Value of export bills negotiated, purchased or discounted',
  P0102: 'Realisation of export bills sent on collection',
  P0103: 'Advance receipts against export contracts, to be covered later by shipping bills',
  P0104: 'Receipts against export of goods not covered by shipping bills',
  P0108: 'Goods sold under merchanting',
  P0109: 'Export realisation on account of exports to Nepal and Bhutan',
  P0301: 'Purchases towards travel',
  P0308: 'Education related travel of foreign students in India',
  P0601: 'Receipts of life insurance premium',
  P0701: 'Financial intermediation except investment banking',
  P0801: 'Hardware consultancy and implementation',
  P0802: 'Software consultancy and implementation',
  P0803: 'Database and data processing charges',
  P0804: 'Repair and maintenance of computers and software',
  P0805: 'News agency services',
  P0806: 'Other information services, subscriptions to newspapers and periodicals',
  P0807: 'Off-site software exports',
  P0901: 'Franchise services',
  P0902: 'Receipts for use, through licensing arrangements, of produced originals or prototypes',
  P1001: 'Merchanting services, net receipts',
  P1002: 'Trade related services, commission on exports and imports',
  P1004: 'Legal services',
  P1005: 'Accounting, auditing, book-keeping and tax consulting services',
  P1006: 'Business and management consultancy and public relations services',
  P1007: 'Advertising, trade fair, market research and opinion polling services',
  P1008: 'Research and development services',
  P1009: 'Architectural, engineering and other technical services',
  P1010: 'Agricultural, mining and on-site processing services',
  P1019: 'Other services not included elsewhere',
  P1101: 'Audio-visual and related services',
  P1109: 'Educational services',
};

/** The purpose codes with their meanings, in the order of the codes. */
export const purposeCodeList: readonly PurposeCode[] = Object.entries(purposeCodes).map(([code, description]) => ({
  code,
  description,
}));
