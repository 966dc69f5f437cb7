/**
 * The content security policy of a payment page. It uses only this host: no other host, no inline script or style, and
 * no frame around a page. A live page that takes cards frames the origin of the acquirer's card fields, and no other.
 */
export function policyOf(cardFieldsOrigin?: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    ...(cardFieldsOrigin === undefined ? [] : [`frame-src ${cardFieldsOrigin}`]),
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
