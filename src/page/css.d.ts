// Style sheets are bundled; what imports one gets nothing from it.
declare module "*.css";
