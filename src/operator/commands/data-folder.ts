import fs from 'node:fs';
import path from 'node:path';
import type { Config } from '../../db/connect/open.js';
import { ConfigError } from '../../config/config-error.js';

/**
 * The settings of a command that needs the data of a gateway. Refuses a DATA_DIR without any: the command would take
 * seconds to make an empty database in a folder that only has the wrong name.
 */
export function withData(settings: Config): Config {
  const { DATABASE_URL, MIGRATION_URL, DATA_DIR } = settings;
  const isElsewhere = (DATABASE_URL ?? MIGRATION_URL) !== undefined;
  if (isElsewhere || !isMissing(path.join(DATA_DIR, 'postgres'))) return settings;
  throw new ConfigError(
    `DATA_DIR: there is no data of a gateway in ${path.resolve(DATA_DIR)}. Set DATA_DIR to the folder of the ` +
      'gateway, or start a gateway first.',
  );
}

/** Whether a folder is not there. What is wrong with one that cannot be looked at, its use will say. */
function isMissing(folder: string): boolean {
  try {
    fs.statSync(folder);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
