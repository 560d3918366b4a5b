// What Python and the page share: `python data/make_web_numbers.py` writes it.

export const boxes = {
  "HEIGHT": 2.2,
  "NARROWEST": 0.3,
  "WIDEST": 4.0
};

export const margins = {
  "NARROW": 0.85,
  "FLAT": 0.2,
  "LOWEST": 10,
  "EMPTY": 10,
  "INK": 30,
  "MARGIN_ALONG": 0.75,
  "MARGIN_ACROSS": 0.5,
  "FLATTEST": 8,
  "CUTS": 3
};

export const prior = {
  "STEPS": 25,
  "WEIGHT": 0.9210340371976184,
  "UNKNOWN": 0.0,
  "NO_WORD": 2.5,
  "SIGNS": 0.0,
  "JOINED": 1.0,
  "SHORTEST": 1.0,
  "OTHERS": 2.0,
  "GREEK": {"ά": "α", "έ": "ε", "ή": "η", "ί": "ι", "ό": "ο", "ύ": "υ", "ώ": "ω", "ΐ": "ϊ", "ΰ": "ϋ"}
};

export const oneScript = {
  "WORDS_OF_ONE_LETTER": {"Cyrillic": "coy", "Greek": "o"},
  "LETTER_THREE": "З"
};

export const lookAlikes = {
  "DASHES": "-–—",
  "ZEROS": "0O○ОΟ",
  "ROUND": "0O○ОΟo•●°º",
  "QUOTES": ["'’‘′", "\"“”″"],
  "BEFORE_A_SIGN": " ([{$€£¥",
  "RARE": 0.1,
  "NEVER": 0.0001,
  "TINY": 1e-12,
  "JOINED": 10.0,
  "OF_ZEROS": {"alone": {"0": 1.0, "•": 0.3}, "in code": {"0": 1.0, "O": 1.0, "О": 1.0, "Ο": 1.0}, "in word": {"0": 0.1, "O": 1.0, "О": 1.0, "Ο": 1.0}, "before digits": {"0": 1.0, "O": 0.5, "О": 0.5, "Ο": 0.5}, "initial": {"0": 0.3, "O": 1.0, "О": 1.0, "Ο": 1.0}, "before words": {"0": 0.3, "O": 0.3, "○": 1.0}, "else": {"0": 1.0, "O": 0.1}}
};

export const directions = {
  "PAGES": [-0.030459207484708574, -4.605170185988091, -4.605170185988091, -4.605170185988091],
  "LONG": 2.5,
  "TALL": 1.5,
  "FLAT": [-0.01005033585350145, -20.72326583694641, -4.605170185988091, -20.72326583694641],
  "SHORT": [-0.020202707317519466, -5.298317366548036, -4.605170185988091, -5.298317366548036],
  "HIGH": [-0.23572233352106983, -2.3025850929940455, -4.605170185988091, -2.3025850929940455],
  "ACROSS": [-20.72326583694641, -5.298317366548036, -20.72326583694641, -5.298317366548036],
  "MOST_TURNED": -1.3862943611198906,
  "REACH": 4.0,
  "MOST_TOLD": 5.0,
  "TOLD_BEFORE": 3.0,
  "ROUNDS": 10,
  "NOTHING": -3.912023005428146,
  "NO_TEXT": 0.4,
  "EMPTY": -6.0,
  "NARROWEST": 1.5
};

export const detection = {
  "SHORT": 736,
  "LONG": 2000,
  "LONGEST": 2944,
  "STEP": 32,
  "WIDEST": 8,
  "WITH_MARGINS": 4
};

export const elisions = {
  "LETTER": 0.6
};

export const geometry = {
  "MOST_PIXELS": 4096
};

export const ink = {
  "FULL": 255,
  "SHADES": [2, 50, 98],
  "INKED": 102.0,
  "MOST_TRIMMED": 0.6,
  "BAND": [0.3, 0.6],
  "FULLEST": 90,
  "CAPITALS": 0.7
};

export const layout = {
  "COLUMN_GAP": 1.0,
  "ROW_GAP": 0.9,
  "FIRST_GAP": 0.5,
  "TEXT_WIDTH": 6.0,
  "EDGE_GAP": 1.5,
  "MOST_FIRST": 3,
  "MOST_FIRST_ROWS": 2,
  "MOST_IN_ROWS": 6,
  "HEAD_GAP": 1.2,
  "ADDRESS_GAP": 5.0,
  "LINES_OF_ADDRESS": [3, 8],
  "MOST_ABOVE": 2,
  "PITCH": 1.5,
  "SAME_START": 0.5,
  "ADDRESS_WIDTH": 4.0,
  "SET_RIGHT": 3.0,
  "GAP_BELOW_RIGHT": 0.3,
  "UNEVEN": 1.5,
  "LEAST_BESIDE": 0.5,
  "SAME_ROW": 0.5,
  "MOST_ACROSS": 0.25
};

export const choice = {
  "FEWEST": 25
};

export const linePieces = {
  "SAME_LINE": 0.5,
  "OVERLAP": 0.4,
  "LIKE": 1.7
};

export const leveling = {
  "GAP": 0.6,
  "GAP_OF_TURNED": 3.0,
  "MOST_SHAPES": 90
};

export const features = {
  "KINDS": ["piece", "level rule", "upright rule", "ground", "picture", "check"],
  "BUCKETS": 4096,
  "NGRAMS": 24,
  "NO_RULE": 10000.0,
  "WAVES": [2.0, 4.0, 9.0, 20.0, 45.0, 100.0],
  "CHARACTERS": 8,
  "FIRST": 4,
  "LAST": 2,
  "BULLETS": ["*", "+", "-", "·", "–", "—", "•", "→", "■", "□", "▪", "▶", "○", "●", "◦", "☐", "☑", "☒", "✓"],
  "MONEY": ["$", "%", "£", "€"],
  "NEAR": 0.4,
  "WORDS": 2,
  "LEAST": 0.001
};

export const scores = {
  "CELLS": ["cell", "head cell"],
  "RUNNING": ["head", "foot", "margin"],
  "NOTHING": "nothing"
};

export const likelihood = {
  "ROLES_OF": {"heading": ["heading"], "item": ["item"], "cell": ["cell", "head cell"], "running": ["head", "foot", "margin", "nothing"]},
  "PAIRS_OF_PIECE": 4
};

export const decoding = {
  "LEAST_OF_CELL": [0.3, 0.02],
  "FEWEST_CELLS": 4,
  "ROUNDS": 10,
  "DOUBTFUL": 8.0,
  "MOST_TRIED": 12,
  "LEAST_GAIN": 5.0,
  "COST_OF_RUNNING": 2.0,
  "NEAR": 5.0
};

export const blocks = {
  "TABLE": "table",
  "SAME_LINE": 0.5,
  "BEFORE": 5.0
};

export const items = {
  "MARK": "[-–—•·°*+▪■●○□☐☑☒→✓]|\\[x\\]|\\(?(?:\\d{1,3}|[a-z])[.)]|\\(?[A-Z]\\)"
};

export const doubts = {
  "DOUBTFUL": 0.98,
  "HEADSTART": 1.1
};

export const print = {
  "PRINT": 40,
  "LONG_S": 0.2
};

export const pages = {
  "FLAT": 1.5,
  "CROP_HEIGHT": 300,
  "SPECK": 0.25
};

export const confidences = {
  "MINIMUM_CONFIDENCE": 0.8,
  "SENTENCE": 3
};

export const sample = {
  "SAMPLE": 6
};

export const pieces = {
  "MARGIN": 0.15,
  "BESIDE": 0.1,
  "ABOVE": 0.12,
  "MOST_BESIDE": 0.3
};

export const quotes = {
  "MOST_WORDS": 60,
  "DOUBLE": "„“",
  "SINGLE": "‚‘"
};

export const grounds = {
  "LONGEST_SIDE": 800,
  "WINDOW": 9,
  "EVEN": 5,
  "OTHER": 4,
  "SMALLEST": [7, 20],
  "FULL": 0.6,
  "SHADES": 32,
  "SHEET": 0.7,
  "MOST": 60
};

export const rules = {
  "LONGEST_SIDE": 2000,
  "SHORTEST": 0.02,
  "FEWEST_PIXELS": 40,
  "RUN": 0.0125,
  "SHORTEST_RUN": 9,
  "THICKEST": 0.005,
  "THICKEST_PIXELS": 7,
  "WINDOW": 31,
  "DARKER": 12,
  "STEEPEST": 0.1,
  "TOUCHES": 0.004
};

export const scripts = {
  "LOOK_ALIKES": {"Latin": "ABEHIJKMOPSTXYZNCacehijopsvxyËëÈèÏïó....", "Cyrillic": "АВЕНІЈКМОРЅТХҮ..Сасеһіјорѕ.хуЁёЀѐЇї.ГЛПФ", "Greek": "ΑΒΕΗΙ.ΚΜΟΡ.ΤΧΥΖΝ.......ο..ν......Ϊ.όΓΛΠΦ"},
  "SIMILAR": {"Latin": "Ykmtuaiwpxyn", "Cyrillic": "Укмти.......", "Greek": "Υκ.τυαιωρχγη"},
  "ALPHABETS": {"ru": "абвгдеёжзийклмнопрстуфхцчшщъыьэюя", "uk": "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя", "be": "абвгдеёжзійклмнопрстуўфхцчшыьэюя", "bg": "абвгдежзийклмнопрстуфхцчшщъьюяѝ", "sr": "абвгдђежзијклљмнњопрстћуфхцчџш", "mk": "абвгдѓежзѕијклљмнњопрстќуфхцчџшѐѝ", "kk": "абвгдеёжзийклмнопрстуфхцчшщъыьэюяәғқңөұүһі", "ky": "абвгдеёжзийклмнопрстуфхцчшщъыьэюяңөү", "tg": "абвгғдеёжзиӣйкқлмнопрстуӯфхҳчҷшъэюя", "mn": "абвгдеёжзийклмнопрстуфхцчшщъыьэюяөү", "el": "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ"}
};

export const rereading = {
  "doubtful": 0.9,
  "doubtful_after_prior": 0.6,
  "doubtful_after_augmentation": 0.4,
  "rounds": [[{"cut": 0.05, "slope": 0.2, "blurred": false}, {"cut": 0.05, "slope": -0.2, "blurred": false}], [{"cut": -0.08, "slope": 0.0, "blurred": false}, {"cut": 0.03, "slope": 0.4, "blurred": false}, {"cut": 0.03, "slope": -0.4, "blurred": false}, {"cut": 0.0, "slope": 0.0, "blurred": true}]],
  "beams": 6,
  "margin": 5.0,
  "together": 4
};

export const languages = ["ca", "cs", "da", "de", "en", "es", "fi", "fr", "hu", "is", "it", "lt", "lv", "nb", "nl", "pl", "pt", "ro", "sh", "sk", "sl", "sv", "tr", "vi"];
