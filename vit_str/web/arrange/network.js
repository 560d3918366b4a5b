// The network that arranges pages, run by onnxruntime: `vit_str/pages/arrange/network.py`.

import * as ort from "../../runtime/ort.wasm.bundle.min.mjs";
import { Scores } from "./scores.js";

/** Arranges with a session of onnxruntime and the names of roles and relations. */
export class ArrangerNetwork {
  constructor(session, { roles, relations }) {
    Object.assign(this, { session, names: roles, relations });
  }

  /** Scores of the pieces among the tokens of a page. */
  async scores(tokens, pieces) {
    const rowsOf = (name) => tokens.map((token) => token[name]);
    const found = await this.session.run({
      features: tensor("float32", Float32Array, rowsOf("features")),
      places: tensor("float32", Float32Array, rowsOf("places")),
      ngrams: tensor("int64", BigInt64Array, rowsOf("ngrams").map((row) => row.map(BigInt))),
    });
    const relations = Object.fromEntries(
      this.relations.map((name, place) => {
        const size = tokens.length ** 2;
        const pairs = found.relations.data.subarray(place * size, (place + 1) * size);
        return [name, rows(pairs, tokens.length, pieces).map((row) => row.subarray(0, pieces))];
      }),
    );
    const ofPieces = ({ data, dims }) => rows(data, dims[1], pieces);
    const { roles, levels } = found;
    return new Scores({
      roles: ofPieces(roles),
      levels: ofPieces(levels),
      relations,
      names: this.names,
    });
  }
}

function tensor(type, Values, table) {
  return new ort.Tensor(type, Values.from(table.flat()), [table.length, table[0].length]);
}

/** The first rows of values that lie row by row. */
const rows = (values, width, count) =>
  Array.from({ length: count }, (_, row) => values.subarray(row * width, (row + 1) * width));
