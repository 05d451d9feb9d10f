// Stands in a bundle for what it was made without (scripts/build.ts): loading it fails, and the whole program runs.

export class LeftOut extends Error {}
