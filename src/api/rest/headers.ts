/** The request headers on which an answer to a caller depends. */
export const varyOfCaller = 'Origin, Accept-Encoding, Authorization, On-Behalf-Of';
