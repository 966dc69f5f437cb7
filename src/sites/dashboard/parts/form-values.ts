import { typedAmount } from '../format/money';

/** Sets the amounts of a form as the gateway takes them. */
export function readAmounts(form: HTMLFormElement, values: FormData) {
  for (const input of form.querySelectorAll<HTMLInputElement>('[data-amount]'))
    values.set(input.name, typedAmount(input.value));
}

/** The values of a form as nested objects, by the dots of their names, without the spaces that a paste brings along. */
export function inputOf(values: FormData): object {
  const input: Record<string, unknown> = {};
  for (const [name, entry] of values) {
    const value = typeof entry === 'string' ? entry.trim() : entry;
    if (value === '') continue;
    const path = name.split('.');
    const last = path.pop()!;
    let at = input;
    for (const part of path) at = (at[part] ??= {}) as Record<string, unknown>;
    at[last] = /currency$/i.test(last) && typeof value === 'string' ? value.toUpperCase() : value;
  }
  return input;
}
