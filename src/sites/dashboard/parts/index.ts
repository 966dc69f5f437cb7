/**
 * The design system: the parts that pages are made of. The QR code has a library of its own, and is imported where it
 * is drawn.
 */
export * from './action';
export * from './cells';
export * from './create-page';
export * from './dialog';
export * from './empty';
export * from './facts';
export * from './field';
export * from './file-link';
export * from './filters';
export * from './form';
export * from './found-field';
export * from './frame';
export * from './json';
export * from './list';
export * from './loaded';
export * from './mark';
export * from './member-field';
export * from './money';
export * from './object-link';
export * from './page';
export * from './part';
export * from './problem';
export * from './search';
export * from './shares';
export * from './sign-in-form';
export * from './skeleton';
export * from './status';
export * from './table';
export * from './test-tools';
export * from './text-filter';
export * from './timeline';
export * from './upload';
