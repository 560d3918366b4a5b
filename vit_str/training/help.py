"""The help of ``vit-str train``, which needs none of its libraries."""

HELP = """\
usage: vit-str train --config FILE [--folder FOLDER] [--init NAME|FILE] [--charset NAME|FILE]
                     [--ckpt_path last|FILE] [--SECTION.NAME VALUE ...]

Train a model on rendered text, or on your own words. After Ctrl-C or a kill the same command
resumes. Whatever is in the configuration, in YAML, can be given on the command line too.

options:
  -c, --config FILE     a configuration, such as those in configs/
  --folder FOLDER       where the run is kept
  --init NAME|FILE      start from these weights: of the package, or a .safetensors file
  --charset CHARSET     characters to read: a name, several joined by +, a text file, or themselves
  --ckpt_path last|FILE resume from this checkpoint; last: that of the folder of the run, if any
  --print_config        print the whole configuration and exit
  --config FILE --help  describe every option of model, data and trainer

examples:
  vit-str train --config configs/vit_tiny_transformer.yaml
  vit-str train --config configs/vit_tiny_transformer.yaml --trainer.max_time 00:08:00:00
  vit-str train --config configs/finetune.yaml --init tiny --data.init_args.sources '[crops/]'

exit codes: 0 trained; 2 wrong use; 130 interrupted with Ctrl-C."""
