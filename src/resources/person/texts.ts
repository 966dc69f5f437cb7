/** Descriptions of the roles of a person, which its type and its input share. */
export const roleTexts = {
  director: 'Whether the person is a director of the business.',
  owner: 'Whether the person owns the business or a part of it.',
  representative: 'Whether the person represents the business.',
} as const;
