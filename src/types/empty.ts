/** Whether a value counts as absent where a value is required: null, blank text, an empty object or list. */
export function isEmpty(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === '';
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}
