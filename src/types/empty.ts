/** Whether a value counts as absent where a value is required: null, blank text, an empty object or list. */
export function isEmpty(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === '';
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

/**
 * Whether a value is empty, or is an object whose members are all blank: each member is optional, and "" unsets one.
 */
export function isBlank(value: unknown): boolean {
  return isEmpty(value) || (typeof value === 'object' && Object.values(value as object).every(isBlank));
}
