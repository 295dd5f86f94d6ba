export const eventStore = 1;
