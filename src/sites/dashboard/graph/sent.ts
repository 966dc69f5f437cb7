/** Variables without the members that may be undefined; these may be missing instead. */
type Sent<Given> = {
  [Name in keyof Given as undefined extends Given[Name] ? never : Name]: Given[Name];
} & {
  [Name in keyof Given as undefined extends Given[Name] ? Name : never]?: Exclude<Given[Name], undefined>;
};

/** The variables of a request without those that are undefined, such as filters that are not chosen. */
export const sent = <Given extends object>(given: Given): Sent<Given> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Sent<Given>;
