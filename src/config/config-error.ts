/** A wrong or unsafe setting. The process does not start with one. */
export class ConfigError extends Error {}
