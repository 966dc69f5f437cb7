/** How values are shown: money, times, days and words. */
export * from './countries';
export * from './csv';
export * from './days';
export * from './money';
export * from './obstacles';
export * from './preferences';
export * from './requirements';
export * from './time';
export * from './words';
