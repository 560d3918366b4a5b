// What a network says of the pieces of a page, as logits: `vit_str/pages/arrange/scores.py`.

export class Scores {
  softened = {}; // by relation

  /** A row of numbers for each piece, and for each relation; `names` are those of the roles. */
  constructor({ roles, levels, relations, names }) {
    Object.assign(this, { roles, levels, relations, names });
    this.logRoles = roles.map(logSoftmax);
    this.logLevels = levels.map(logSoftmax);
  }

  /** How many pieces there are. */
  get count() {
    return this.roles.length;
  }

  /** -log(1 - p) of all pairs for the probability of a relation. */
  softplus(relation) {
    this.softened[relation] ??= this.relations[relation].map((row) => Array.from(row, softplus));
    return this.softened[relation];
  }
}

const softplus = (score) => Math.max(score, 0) + Math.log1p(Math.exp(-Math.abs(score)));

/** Logarithms of the probabilities of some scores, of which one is right. */
function logSoftmax(scores) {
  const best = Math.max(...scores);
  const total = scores.reduce((sum, score) => sum + Math.exp(score - best), 0);
  return Array.from(scores, (score) => score - best - Math.log(total));
}
