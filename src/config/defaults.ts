/*
 * The defaults of settings that several parts of the gateway also use without settings. They stand below all of them.
 */

/**
 * The default limits of a document. They allow a dashboard, and the introspection query of an explorer, which is 15
 * levels deep and has no alias or directive.
 * Silent: the specification names no limits; these are ours.
 */
export const limitsDefault = { depth: 16, aliases: 30, rootFields: 10, directives: 10 };

/**
 * The limits of one request: its objects, the bytes of its answer, and its seconds.
 * Silent: the specification names no such limits; these are ours.
 */
export const requestLimitsDefault = { nodes: 10_000, answerBytes: 4 * 1024 * 1024, seconds: 10 };

/** The limits of all requests in flight of one process. Measured: docs/decisions/fair-turns.md. */
export const inFlightDefault = { slots: 32, ofTenant: 1_000, all: 4_000, milliseconds: 1_000, loopDelay: 1_000 };

/** The connections for expensive reads, and how long PostgreSQL may take for one. */
export const slowDefault = { connections: 3, seconds: 5 };

/** The terms of a new checkout: how long it and each attempt last, and the fee in hundredths of a percent. */
export const checkoutTermsDefault = { seconds: 86_400, attemptSeconds: 480, feeBasisPoints: 0 };
