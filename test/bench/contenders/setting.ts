import type { Login } from '../server.ts';

/** What a contender is told: where its rows are, whose they are, and where to listen. */
export interface Setting {
  login: Login;
  port: number;
  tenant: string;
  platform: string;
  pepper: string;
}

export const setting = JSON.parse(process.env.BENCH ?? '{}') as Setting;

/** Says that requests can come. */
export function listening(): void {
  process.stdout.write('listening\n');
}
