import type { Login } from '../server.ts';

/** The settings of a contender: its database, its tenant and its port. */
export interface Setting {
  login: Login;
  port: number;
  tenant: string;
  platform: string;
  pepper: string;
}

export const setting = JSON.parse(process.env.BENCH ?? '{}') as Setting;

/** Reports that the contender accepts requests. */
export function listening(): void {
  process.stdout.write('listening\n');
}
