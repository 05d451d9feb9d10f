// Our programs by the path of their entry, with what loads each. In our single binary scripts/binary.ts replaces this
// module by one that has them all.
export const programs: Readonly<Record<string, () => Promise<unknown>>> = {};
